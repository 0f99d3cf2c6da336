/** Every environment variable that paylink reads, with its meaning. */
import { AGENT_VARIABLES } from "../../domain/coding-agents.ts";
import { SETTING_KEYS, SETTINGS } from "../../settings/setting-table.ts";

const OF_SETTINGS = SETTING_KEYS.flatMap((key): [string, string][] => {
  const { variable, means } = SETTINGS[key];
  return variable === undefined ? [] : [[variable, means]];
});

const OF_AGENTS = Object.entries(AGENT_VARIABLES).map(([name, agent]) => [
  name,
  `never prompt; set by ${agent}`,
]);

export const ENVIRONMENT: Readonly<Record<string, string>> = {
  PAYLINK_PROFILE: "the profile to use",
  ...Object.fromEntries(OF_SETTINGS),
  PAYLINK_HOME: "one folder for settings and data, instead of the platform's folders",
  NODE_DISABLE_COMPILE_CACHE:
    "1 turns off the compile cache (Node 22 and later), so that each run starts slower",
  HTTPS_PROXY: "the proxy for https requests",
  NO_PROXY: "the hosts that are reached without the proxy",
  NO_COLOR: "no colours",
  FORCE_COLOR: "colours even without a terminal",
  CI: "never prompt",
  ...Object.fromEntries(OF_AGENTS),
};
