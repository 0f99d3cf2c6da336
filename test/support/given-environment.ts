/** What programs under test get of the environment of the tests: where other programs are, and the clock of libfaketime. */
const GIVEN = /^(?:PATH|LD_PRELOAD|FAKETIME.*|DONT_FAKE_MONOTONIC)$/;

export const GIVEN_ENVIRONMENT: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(process.env).flatMap(([name, value = ""]) => (GIVEN.test(name) ? [[name, value]] : [])),
);
