/** Returns whether a MIME type matches an accepted pattern, such as `image/*`. Ignores parameters. */
export function isAcceptedType(type: string, accepted: readonly string[]): boolean {
  const [essence = ''] = type.split(';');
  return accepted.some(
    (pattern) => pattern === '*/*' || pattern === essence || (pattern.endsWith('/*') && essence.startsWith(pattern.slice(0, -1))),
  );
}
