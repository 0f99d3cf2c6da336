/** Keeps what is slow to read, since an open page asks for it every second or two. */

/** An answer is kept 20 times as long as it took to read, so that reading takes at most a twentieth of the time. */
const TIMES_KEPT = 20;

/** `now` is the machine's clock. */
export function kept<Given extends readonly unknown[], Answer>(
  read: (...given: Given) => Answer | Promise<Answer>,
  now: () => Date,
): (...given: Given) => Promise<Answer> {
  const answers = new Map<string, { readonly until: number; readonly answer: Answer }>();
  return async (...given) => {
    // "The last 24 hours" begin a little later each time.
    const key = JSON.stringify(given).replaceAll(/:\d\d\.\d{3}Z/g, "Z");
    const asked = now().getTime();
    for (const [name, { until }] of answers) if (until <= asked) answers.delete(name);
    const known = answers.get(key);
    if (known !== undefined) return known.answer;
    const answer = await read(...given);
    const done = now().getTime();
    answers.set(key, { until: done + TIMES_KEPT * (done - asked), answer });
    return answer;
  };
}
