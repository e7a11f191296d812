import { readFile } from 'node:fs/promises';
import { dirname, extname, resolve } from 'node:path';
import { isJsonObject } from '#base/json.ts';
import type { Fault } from '#contract/configuration/fault.ts';
import { logoTypes, maxLogoBytes } from '#contract/page/logo.ts';

/** A configuration that holds its logo; without one if the file that it names cannot be it. */
interface LogoRead {
  readonly value: unknown;
  readonly fault?: Fault;
}

/** Puts the content of the file that `page.logo` names in the place of its name. A relative one begins where `file` is. */
export async function readLogo(value: unknown, file: string): Promise<LogoRead> {
  const page = isJsonObject(value) ? value.page : undefined;
  if (!isJsonObject(value) || !isJsonObject(page)) return { value };
  const { logo, ...rest } = page;
  if (typeof logo !== 'string' || logo === '' || logo.startsWith('data:')) return { value };
  const read = await readPicture(logo, file);
  if (typeof read === 'string') return { value: { ...value, page: { ...page, logo: read } } };
  return { value: { ...value, page: rest }, fault: { path: ['page', 'logo'], ...read } };
}

/** The file as a `data:` address. */
async function readPicture(name: string, file: string): Promise<string | Omit<Fault, 'path'>> {
  const end = extname(name).slice(1).toLowerCase();
  const type = Object.entries({ ...logoTypes, jpeg: logoTypes.jpg }).find(([each]) => each === end)?.[1];
  if (type === undefined)
    return { message: 'must name a file that ends in .svg, .png, .webp, .jpg or .jpeg, or be a data: address of a picture' };
  const bytes = await readFile(resolve(dirname(file), name)).catch(() => undefined);
  if (bytes === undefined)
    return { message: 'names a file that cannot be read', hint: 'a relative name begins at the folder of this configuration' };
  if (bytes.length === 0 || bytes.length > maxLogoBytes)
    return { message: `names a file that is empty, or larger than ${maxLogoBytes / 1024} KiB` };
  return `data:${type};base64,${bytes.toString('base64')}`;
}
