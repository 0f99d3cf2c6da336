/** The addresses of paylink's own servers on this machine, unless flags say otherwise, and the profile of the sandbox. */

export const LISTENER_PORT = 4000;
export const LISTENER_URL = `http://127.0.0.1:${LISTENER_PORT}/`;

export const SANDBOX_PORT = 4010;
/** Without a final slash, as profiles store it. */
export const SANDBOX_URL = `http://127.0.0.1:${SANDBOX_PORT}`;

/** The profile that `paylink sandbox` writes. */
export const SANDBOX_PROFILE = "sandbox";
