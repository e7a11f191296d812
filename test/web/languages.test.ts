import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PageFixture, startPageFixture } from './support.ts';

let fixture: PageFixture;

beforeAll(async () => {
  fixture = await startPageFixture();
});

afterAll(() => fixture[Symbol.asyncDispose]());

/** Titles of the views that every user has, by language. */
const viewTitles = {
  de: ['Deine Anwendungen', 'Dateien', 'Verbrauch', 'Berechtigungen von Anwendungen'],
  fr: ['Vos applications', 'Fichiers', 'Utilisation', 'Autorisations des applications'],
  es: ['Tus aplicaciones', 'Archivos', 'Uso', 'Permisos de las aplicaciones'],
} as const;
const views = ['#/build', '#/files', '#/usage', '#/consent'];
const phone = { width: 390, height: 844 };

/** Returns the names of elements that are wider than their space: the page, controls, and placeholders of fields. */
async function findTruncated(page: Page): Promise<unknown> {
  return page.evaluate(`((pen) => [
    ...(document.documentElement.scrollWidth > innerWidth ? ['the page'] : []),
    ...[...document.querySelectorAll('button, summary, .segments, .segments span, label:not(.visually-hidden)')]
      .filter((each) => each.checkVisibility() && each.scrollWidth > each.clientWidth + 1 && getComputedStyle(each).display !== 'inline')
      .filter((each) => ![each, ...each.querySelectorAll('*')].some((part) => getComputedStyle(part).textOverflow === 'ellipsis'))
      .map((each) => each.className + ' ' + each.textContent.trim()),
    ...[...document.querySelectorAll('input[placeholder]')]
      .filter((each) => each.checkVisibility())
      .filter((each) => {
        const style = getComputedStyle(each);
        pen.font = style.font;
        return pen.measureText(each.placeholder).width > each.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
      })
      .map((each) => each.placeholder),
  ])(document.createElement('canvas').getContext('2d'))`);
}

describe.each(Object.entries(viewTitles))('the page in the language %s', (language, titles) => {
  it('translates each view, based on the browser language, and truncates no text on a phone', async () => {
    const { page } = await fixture.open('demo', { locale: `${language}-${language.toUpperCase()}`, viewport: phone });
    await page.locator('.start-view').waitFor();
    expect(await page.evaluate('document.documentElement.lang')).toBe(language);
    expect(await findTruncated(page)).toEqual([]);
    for (const [index, view] of views.entries()) {
      await page.evaluate(`location.hash = '${view}'`);
      await page
        .getByRole('heading', { name: titles[index] ?? '', exact: true })
        .first()
        .waitFor();
      expect([view, await findTruncated(page)]).toEqual([view, []]);
    }
  });
});

it('changes the language in the settings and stores it', async () => {
  const { page, reload } = await fixture.open('demo');
  await page.getByRole('button', { name: 'Settings', exact: true }).click();
  await page.getByRole('radio', { name: 'Français' }).click();
  await page.getByRole('heading', { name: 'Paramètres' }).waitFor();
  expect(await findTruncated(page)).toEqual([]);
  await page.getByRole('radio', { name: 'Español' }).click();
  await page.getByRole('heading', { name: 'Ajustes' }).waitFor();
  await reload();
  await page.getByRole('button', { name: 'Ajustes', exact: true }).waitFor();
  expect(await page.evaluate('document.documentElement.lang')).toBe('es');
});
