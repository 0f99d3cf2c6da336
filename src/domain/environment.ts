/** The variables of the environment that a command runs in. */

export type Environment = Readonly<Record<string, string | undefined>>;
