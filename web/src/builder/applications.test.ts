import { expect, it } from 'vitest';
import type { Service } from '../service/service.ts';
import { createApplication } from './applications.ts';

it.each([
  ['Möbel & Gewicht', 'mobel-gewicht'],
  ['A name that is cut after its 40th character: here', 'a-name-that-is-cut-after-its-40th-charac'],
  ['Answers about the warranty of all pumps we sell', 'answers-about-the-warranty-of-all-pumps'],
  ['???', 'app'],
])('derives the ID of an application from the name %s', async (displayName, id) => {
  const paths: string[] = [];
  const json = async (path: string) => {
    paths.push(path);
    return { bucket: 'b' };
  };
  await createApplication({ json } as unknown as Service, { displayName });
  expect(paths.at(-1)).toBe(`v1/applications/b/${id}`);
});
