/** The type of the package with which the driver reads libpq's password file. */
declare module "pgpass" {
  interface Server {
    readonly host: string;
    readonly port: number;
    readonly database: string;
    readonly user: string;
  }
  /** Calls back with undefined where no line of the file is about this server. */
  export default function pgpass(server: Server, callback: (password: string | undefined) => void): void;
}
