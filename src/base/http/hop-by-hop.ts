/** Header fields that belong to one connection (RFC 9110, 7.6.1), in lower case. */
const always = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const plain = new Set(['', 'keep-alive', 'close']);

/** Tells which fields, by names in lower case, are not to be passed on; `connection` is the field that can name more of them. */
export function hopByHop(connection: string | undefined): { has(name: string): boolean } {
  if (connection === undefined || plain.has(connection.trim().toLowerCase())) return always;
  return new Set([...always, ...connection.split(',').map((name) => name.trim().toLowerCase())]);
}
