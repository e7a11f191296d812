import { readFileSync } from 'node:fs';
import { isJsonObject } from '#base/json/json.ts';
import { checkConfiguration } from '#configuration/check.ts';
import { parseJsonc } from '#configuration/parse-jsonc.ts';
import { formatConfigurationError } from '#contract/configuration/checked-configuration.ts';
import type { AddinModel } from '#surfaces/addin/rules.ts';
import { getReason, SettingError } from '../../settings.ts';

/**
 * Reads the file of `--models`: an array of entries in the form of `addin.models` in a configuration. Throws SettingError with
 * all errors.
 */
export function readModels(file: string): readonly AddinModel[] {
  const parsed = parseJsonc(readText(file));
  if ('errors' in parsed) {
    const errors = parsed.errors.map(({ line, column, message }) => `${file}: line ${line}, column ${column}: ${message}`);
    throw new SettingError(errors.join('\n'));
  }
  if (!Array.isArray(parsed.value))
    throw new SettingError(`${file}: must be an array of models, such as [{"id": "gpt", "display_name": "GPT"}]`);
  const checked = checkConfiguration({ addin: { models: parsed.value.map(withoutObject) } });
  if (!('errors' in checked)) return checked.configuration.addin.models;
  throw new SettingError(
    checked.errors
      .map(({ path, ...details }) => formatConfigurationError({ ...details, file, path: path.replace(/^addin\.models/, '') }))
      .join('\n'),
  );
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  } catch (cause) {
    throw new SettingError(`${file}: cannot be read: ${getReason(cause)}`);
  }
}

/** Returns an entry without `"object": "model"`, which is optional in the file. */
function withoutObject(entry: unknown): unknown {
  if (!isJsonObject(entry) || entry.object !== 'model') return entry;
  const { object: _object, ...otherFields } = entry;
  return otherFields;
}
