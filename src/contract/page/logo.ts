/** Ends of names of files that can be a logo, and their types. */
export const logoTypes = { svg: 'image/svg+xml', png: 'image/png', webp: 'image/webp', jpg: 'image/jpeg' } as const;

export const maxLogoBytes = 262_144;

const form = /^data:(image\/(?:svg\+xml|png|webp|jpeg));base64,([A-Za-z0-9+/]+={0,2})$/;

/** A logo that is given as data; undefined for anything else, and for what is too large. */
export function readLogoData(text: string): { readonly type: string /** In base64. */; readonly data: string } | undefined {
  const [, type, data] = form.exec(text) ?? [];
  if (type === undefined || data === undefined) return undefined;
  return (data.length * 3) / 4 > maxLogoBytes + 2 ? undefined : { type, data };
}
