/** Whether a MIME type is one of those that are taken, such as `image/*`; its parameters do not count. */
export function isAcceptedType(type: string, accepted: readonly string[]): boolean {
  const [essence = ''] = type.split(';');
  return accepted.some(
    (each) => each === '*/*' || each === essence || (each.endsWith('/*') && essence.startsWith(each.slice(0, -1))),
  );
}
