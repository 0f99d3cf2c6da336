/** Certificates in PEM files, as far as they say whom a connection trusts. */

/** How a certificate begins in a text (RFC 7468). */
const CERTIFICATE = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----/;

/** Whether a text has a certificate. With an empty one as the authorities, Node would trust all public authorities. */
export const hasCertificate = (text: string): boolean => CERTIFICATE.test(text);
