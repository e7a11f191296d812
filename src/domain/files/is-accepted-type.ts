/** Whether a MIME type is one of those that are taken, such as `image/*`; its parameters do not count. */
export function isTakenType(type: string, taken: readonly string[]): boolean {
  const [essence = ''] = type.split(';');
  return taken.some(
    (each) => each === '*/*' || each === essence || (each.endsWith('/*') && essence.startsWith(each.slice(0, -1))),
  );
}
