/** Runs a program without the rights by which root, which containers often run tests as, passes over permissions. */

/** What to start it through. */
export const NOT_ROOT: readonly string[] =
  process.getuid?.() === 0
    ? ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"]
    : [];
