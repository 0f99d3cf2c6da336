/** The two editions of the document: for the sandbox, and for the documented service. */
import { SERVICES } from "../../domain/known-services.ts";

interface Server {
  readonly url: string;
  readonly description: string;
}

export interface Edition {
  /** The sandbox has operations of its own, more ways to send credentials, and problem details for errors. */
  readonly sandbox: boolean;
  readonly description: string;
  readonly servers: readonly Server[];
  readonly tokenPath: string;
  readonly tokenServers: readonly [Server, ...Server[]];
}

export function sandboxEdition(origin: string): Edition {
  const server = { url: origin, description: "The sandbox" };
  return {
    sandbox: true,
    description: "The payment-link service as `paylink sandbox` simulates it on this machine.",
    servers: [server],
    tokenPath: "/oauth/token",
    tokenServers: [server],
  };
}

const { dna, "dna-test": test } = SERVICES;
const TOKEN_PATH = new URL(dna.settings.tokenUrl).pathname;

const tokenServer = ({ title, settings }: typeof dna | typeof test): Server => ({
  url: new URL(settings.tokenUrl).origin,
  description: title,
});

export const SERVICE_EDITION: Edition = {
  sandbox: false,
  description:
    "Written by paylink from the public documentation of the service; not an official document, and not tested against the live service.",
  servers: [dna, test].map(({ title, settings }) => ({ url: settings.baseUrl, description: title })),
  tokenPath: TOKEN_PATH,
  tokenServers: [tokenServer(dna), tokenServer(test)],
};
