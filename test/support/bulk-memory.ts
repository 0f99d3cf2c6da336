/** What `bulk` remembers, opened as a run does: a list of digests at a service, and the rows of it that were sent. */
import { claimList, type WantedList } from "../../src/bulk/claim-list.ts";
import { openMemory, type Memory, type SentList } from "../../src/bulk/memory.ts";

/** Claims a list; what is not given is that of one list at one service. */
export function claimIn(folder: string, wanted: Partial<WantedList>, memory = openMemory(folder)) {
  return claimList(memory, {
    id: crypto.randomUUID(),
    service: "http://x",
    input: "/orders.csv",
    begun: "2026-01-01T00:00:00.000Z",
    repeats: "refuse",
    digests: [10, 20, 30],
    invalid: new Set(),
    runner: 1,
    ...wanted,
  });
}

/** The list, which must not be refused. */
export function openIn(folder: string, wanted: Partial<WantedList> = {}, memory?: Memory): SentList {
  const claimed = claimIn(folder, wanted, memory);
  if (claimed.kind !== "claimed") throw new Error(`the list is refused: ${claimed.kind}`);
  return claimed.list;
}

/** Sends these rows of a list; each gets its link. */
export async function sendIn(
  folder: string,
  wanted: Partial<WantedList>,
  ...rows: readonly number[]
): Promise<void> {
  const list = openIn(folder, wanted);
  for (const row of rows) {
    await list.intend(row);
    await list.settle(row, { status: "created", url: `https://pay/${wanted.begun}/${row}` });
  }
  await list.close();
}
