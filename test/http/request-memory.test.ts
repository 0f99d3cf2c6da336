/** Which request is refused when all of them together hold too much memory. */
import { expect, it } from "vitest";
import { createRequestMemory, type RequestShare } from "../../src/http/body.ts";

const MEBIBYTE = 1024 * 1024;

function requests() {
  const memory = createRequestMemory();
  const refused: string[] = [];
  const open = (name: string, isPreferred: boolean, mebibytes: number): RequestShare => {
    const share = memory.share(isPreferred, () => void refused.push(name));
    share.open(1024);
    share.grow(mebibytes * MEBIBYTE);
    return share;
  };
  return { open, refused };
}

it("is the largest one that is not preferred, then the largest preferred one", () => {
  const { open, refused } = requests();
  open("signed 6", true, 6);
  open("signed 8", true, 8);
  open("unsigned 2", false, 2);
  open("unsigned 4", false, 4);
  expect(refused).toEqual([]);
  open("signed 5", true, 5);
  expect(refused).toEqual(["unsigned 4"]);
  open("signed 3", true, 3);
  expect(refused).toEqual(["unsigned 4", "unsigned 2"]);
  open("signed 4", true, 4);
  expect(refused).toEqual(["unsigned 4", "unsigned 2", "signed 8"]);
});

it("is not one whose body is complete", () => {
  const { open, refused } = requests();
  const complete = open("complete", false, 20);
  complete.complete();
  open("new", true, 5);
  expect(refused).toEqual(["new"]);
  complete.release();
  open("newer", true, 5);
  expect(refused).toEqual(["new"]);
});
