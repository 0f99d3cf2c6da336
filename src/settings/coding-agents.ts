/** The environment variables that coding agents set for the programs that they run. */

/**
 * Each variable with the agent that sets it. Variables that an editor also sets in its users' own terminals, such as
 * `CURSOR_TRACE_ID`, are left out.
 */
export const AGENT_VARIABLES: Readonly<Record<string, string>> = {
  AI_AGENT: "any coding agent",
  AGENT: "Amp, Goose and others",
  CLAUDECODE: "Claude Code",
  CURSOR_AGENT: "Cursor",
  CODEX_SANDBOX: "Codex",
  CODEX_CI: "Codex",
  CODEX_THREAD_ID: "Codex",
  GEMINI_CLI: "Gemini CLI",
  ANTIGRAVITY_AGENT: "Antigravity",
  COPILOT_AGENT_SESSION_ID: "GitHub Copilot",
  CLINE_ACTIVE: "Cline",
  OPENCODE: "OpenCode",
  OPENCLAW_SHELL: "OpenClaw",
  AUGMENT_AGENT: "Augment",
};
