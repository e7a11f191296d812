import { Compile } from 'typebox/compile';
import { complete } from '../configuration/complete.ts';
import { explain } from '../configuration/explain.ts';
import type { Fault } from '../configuration/fault.ts';
import { QuickAppForm } from './form.ts';

const schema = Compile(QuickAppForm);

/** Everything that is wrong with the settings of a quick app, as written. */
export function quickAppFaults(properties: unknown): readonly Fault[] {
  const completed = complete(QuickAppForm, properties);
  return schema.Check(completed) ? [] : explain(QuickAppForm, completed);
}

/** The settings of a quick app with every default put in; to be given what has no faults. */
export function completeQuickApp(properties: unknown): QuickAppForm {
  return complete(QuickAppForm, properties) as QuickAppForm;
}
