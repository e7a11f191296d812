const untrusted: ReadonlySet<unknown> = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_SIGNATURE_FAILURE',
]);

interface TlsSettings {
  /** Name of the environment variable that contains the address. */
  readonly variable: string;
  /** Parameter of the address that names the file of the CA certificate. */
  readonly caParameter: string;
  /** Suggestion if the server does not support TLS. */
  readonly plainFix: string;
}

/** Returns how to fix a failed TLS handshake, or undefined if the error has another cause. */
export function findTlsFix(error: Error, { variable, caParameter, plainFix }: TlsSettings): string | undefined {
  const { code } = error as Error & { readonly code?: unknown };
  if (untrusted.has(code))
    return `Set ${caParameter}=FILE in ${variable} to the certificate of the CA that signed the server's certificate`;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return `Use a host name in ${variable} that the server's certificate contains`;
  if (code === 'CERT_HAS_EXPIRED') return "Renew the server's certificate";
  if (code === 'ENOENT' || code === 'EACCES')
    return `Check that the files named in ${variable} exist and that this user can read them`;
  const isPlain = /wrong version number|packet length too long|does not support SSL/i.test(error.message);
  return isPlain ? plainFix : undefined;
}
