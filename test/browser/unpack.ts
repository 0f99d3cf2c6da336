/**
 * Names the packaged Chromium to the tests, where there is one, and unpacks it before they start: files that start side by
 * side would each write it to the same place.
 */
import chromium from "@sparticuz/chromium";

export default async function unpack(): Promise<void> {
  if (process.platform === "linux" && process.arch === "x64")
    process.env["PAYLINK_CHROMIUM"] ??= await chromium.executablePath();
}
