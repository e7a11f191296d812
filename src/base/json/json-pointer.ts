/** The keys that a JSON pointer such as `/a/b~1c` leads along (RFC 6901), in their order. */
export function keysOfPointer(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}
