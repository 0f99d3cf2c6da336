/** The tests that pack and install paylink, those in a browser, and the longest journeys: part of `npm run test:package`, not of `npm test`. */
import config, { PACKAGE_TESTS } from "./vitest.config.mts";

export default {
  ...config,
  test: {
    ...config.test,
    include: PACKAGE_TESTS,
    exclude: [],
    globalSetup: ["test/browser/unpack.ts", "test/support/postgres-setup.ts"],
  },
};
