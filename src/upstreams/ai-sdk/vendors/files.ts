export const imageTypes = /^image\/(png|jpeg|gif|webp)$/;

const webProtocols: ReadonlySet<string> = new Set(['http:', 'https:']);

export function isWebUrl({ protocol }: URL): boolean {
  return webProtocols.has(protocol);
}
