/** File name extensions of logos and their media types. */
export const logoTypes = { svg: 'image/svg+xml', png: 'image/png', webp: 'image/webp', jpg: 'image/jpeg' } as const;

export const maxLogoBytes = 262_144;

const logoUrlPattern = /^data:(image\/(?:svg\+xml|png|webp|jpeg));base64,([A-Za-z0-9+/]+={0,2})$/;

/** An accent color, a text color on it, and a background with a tint of it. */
interface Accent {
  readonly accent: string;
  readonly ink: string;
  readonly soft: string;
}

/** Backgrounds of the accent color. They must match web/src/style/tokens.css. */
export const backgrounds = {
  light: { ground: '#fbfaf7', surface: '#f2efe9', raised: '#ffffff' },
  dark: { ground: '#191816', surface: '#22201d', raised: '#2a2824' },
} as const;

/** Minimum contrast of text in WCAG 2.2 (AA). */
const minContrast = 4.5;
const softShare = { light: 0.12, dark: 0.18 } as const;

/**
 * Returns accents for both themes. Each is only as dark or light as legibility requires. `color` has the form
 * `#rrggbb`.
 */
export function toAccents(color: string): { readonly light: Accent; readonly dark: Accent } {
  return { light: createAccent(color, 'light'), dark: createAccent(color, 'dark') };
}

function createAccent(color: string, theme: 'light' | 'dark'): Accent {
  const [end, ink] = theme === 'light' ? ['#000000', '#ffffff'] : ['#ffffff', '#10100e'];
  const soft = mix(backgrounds[theme].ground, color, softShare[theme]);
  const grounds = [...Object.values(backgrounds[theme]), soft];
  for (let share = 0; share < 1; share += 0.02) {
    const accent = mix(color, end, share);
    if ([...grounds, ink].every((ground) => computeContrast(accent, ground) >= minContrast)) return { accent, ink, soft };
  }
  return { accent: end, ink, soft };
}

/** Returns the contrast ratio of two colors, from 1 to 21 (WCAG 2.2). */
export function computeContrast(first: string, second: string): number {
  const luminances = [computeLuminance(first), computeLuminance(second)];
  return (Math.max(...luminances) + 0.05) / (Math.min(...luminances) + 0.05);
}

function computeLuminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = toChannels(color).map((part) => {
    const value = part / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function mix(first: string, second: string, share: number): string {
  const ends = toChannels(second);
  const parts = toChannels(first).map((part, index) => Math.round(part + ((ends[index] ?? 0) - part) * share));
  return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}

function toChannels(color: string): readonly number[] {
  return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
}

/**
 * Returns the media type and the base64 data of a logo in a `data:` URL. Returns undefined if the URL has another form or the
 * logo is larger than `maxLogoBytes`.
 */
export function readLogoData(text: string): { readonly type: string; readonly data: string } | undefined {
  const [, type, data] = logoUrlPattern.exec(text) ?? [];
  if (type === undefined || data === undefined) return undefined;
  return (data.length * 3) / 4 > maxLogoBytes + 2 ? undefined : { type, data };
}
