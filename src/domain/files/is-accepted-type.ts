/** Whether a MIME type is one of those that are taken, such as `image/*`; its parameters do not count. */
export function isAcceptedType(type: string, accepted: readonly string[]): boolean {
  const [essence = ''] = type.split(';');
  return accepted.some(
    (pattern) => pattern === '*/*' || pattern === essence || (pattern.endsWith('/*') && essence.startsWith(pattern.slice(0, -1))),
  );
}
