import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const folder = fileURLToPath(new URL('../../web/src/', import.meta.url));
const files = globSync('**/*.css', { cwd: folder }).filter(
  (file) => file !== 'style/tokens.css' && !file.startsWith('typeface/'),
);

interface Declaration {
  readonly file: string;
  readonly property: string;
  readonly value: string;
}

const tokens = readFileSync(`${folder}style/tokens.css`, 'utf8');

function read(file: string): readonly Declaration[] {
  const text = readFileSync(folder + file, 'utf8').replaceAll(/\/\*.*?\*\//gs, '');
  return [...text.matchAll(/(?:^|[{;])\s*([\w-]+)\s*:\s*([^;{}]+)(?=[;}])/g)].map(([, property = '', value = '']) => ({
    file,
    property,
    value: value.replaceAll(/\s+/g, ' '),
  }));
}

const declarations = files.flatMap(read);

/** Returns declarations of the matching properties whose value is not part of the scale. */
function findStrays(properties: RegExp, isInScale: (value: string) => boolean): readonly string[] {
  const matching = declarations.filter(({ property }) => properties.test(property));
  expect(matching.length).toBeGreaterThan(10);
  return matching.filter(({ value }) => !isInScale(value)).map(({ file, property, value }) => `${file}: ${property}: ${value}`);
}

const removeAll = (value: string, allowed: RegExp): string => value.replaceAll(allowed, '').trim();

describe('the styles of the page', () => {
  it('take font sizes, weights, and line heights from the scale', () => {
    const size = /^(var\(--text-\w+\)|inherit)$/;
    const fontPattern =
      /^(var\(--weight-\w+\) )?var\(--text-\w+\)( \/ var\(--leading(-tight)?\))? var\(--font(-code)?\)$|^inherit$/;
    expect(findStrays(/^font-size$/, (value) => size.test(value))).toEqual([]);
    expect(findStrays(/^font$/, (value) => fontPattern.test(value))).toEqual([]);
    expect(findStrays(/^font-weight$/, (value) => /^(var\(--weight-\w+\)|400|inherit)$/.test(value))).toEqual([]);
  });

  it('take spacing from the scale or relative to the font size', () => {
    const allowed =
      /var\(--[\w-]+\)|\b(?:calc|max)\b|-?[\d.]+em\b|\b[012]px\b|-?\b[\d.]+%|\bauto\b|\benv\([^)]*\)|[-+*/()\s,]|(?<![\d.])-?[\d.]+(?![\w.%])/g;
    expect(
      findStrays(/^(padding|margin|gap|row-gap|column-gap)(-[\w-]+)?$/, (value) => removeAll(value, allowed) === ''),
    ).toEqual([]);
  });

  it('take border radii from the scale', () => {
    expect(
      findStrays(/^border(-[\w-]+)?-radius$/, (value) => removeAll(value, /var\(--radius-\w+\)|50%|\b0\b|inherit/g) === ''),
    ).toEqual([]);
  });

  it('animate for less than 200 ms, except progress indicators', () => {
    const paces = [...tokens.matchAll(/--(?:quick|calm): ([\d.]+)s/g)].map(([, seconds]) => Number(seconds));
    expect(paces).toHaveLength(2);
    expect(Math.max(...paces)).toBeLessThan(0.2);
    const moving = declarations.filter(({ property }) => /^(transition|animation)(-duration)?$/.test(property));
    const otherDurations = moving.filter(
      ({ value }) => /\d+m?s\b/.test(value) && !/^(breathe 1\.4s ease-in-out infinite|0\.01ms !important)$/.test(value),
    );
    expect(moving.length).toBeGreaterThan(5);
    expect(otherDurations.map(({ file, value }) => `${file}: ${value}`)).toEqual([
      'style/page.css: translate var(--calm) ease-out, visibility 0s var(--calm)',
    ]);
  });

  it('contain no color values, except for the logo and the background of foreign HTML', () => {
    const colorDeclarations = declarations.filter(({ value }) => /#[\da-f]{3,8}\b|\brgba?\(|\bhsla?\(/i.test(value));
    expect([...new Set(colorDeclarations.map(({ file, property }) => `${file}: ${property}`))].sort()).toEqual([
      'attachments/attachments.css: background',
      'style/base.css: fill',
    ]);
  });

  it('use only tokens that exist', () => {
    const knownTokens = new Set([...tokens.matchAll(/(--[\w-]+):/g)].map(([, name]) => name));
    const ownTokens = new Set(declarations.filter(({ property }) => property.startsWith('--')).map(({ property }) => property));
    const usedTokens = new Set(
      declarations.flatMap(({ value }) => [...value.matchAll(/var\((--[\w-]+)/g)].map(([, name]) => name)),
    );
    expect([...usedTokens].filter((name) => name !== undefined && !knownTokens.has(name) && !ownTokens.has(name))).toEqual([]);
    expect(usedTokens.size).toBeGreaterThan(40);
  });
});
