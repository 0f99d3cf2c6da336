/** What applications await between look and booking: the order, the customer, the stock. */
import { setTimeout as sleep } from "node:timers/promises";

/** In many turns of the event loop: where the machine stalls, what has arrived meanwhile is read in the next one, and not after all of them. */
export async function workOnOrder(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await sleep(5);
}
