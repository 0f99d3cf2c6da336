/** A request to create a link as a curl command: what a shell of the POSIX family runs, without the token itself. */

/** Between single quotes a shell takes everything as it stands, but a single quote. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

export function renderCurl(url: URL, body: string): string {
  return [
    `curl --fail-with-body --silent --show-error --request POST ${quoted(url.href)}`,
    `--header "Authorization: Bearer $PAYLINK_TOKEN"`,
    `--header 'Content-Type: application/json'`,
    `--header 'Accept: application/json'`,
    `--data-raw ${quoted(body)}`,
  ].join(" \\\n  ");
}
