import type { ComponentType } from 'react';
import type { JsonObject } from '#base/json/json.ts';
import { formatPath, type Path } from '#contract/configuration/issue.ts';
import type { FieldErrors } from './field-errors.ts';

/** An application as it is stored. */
export interface SavedForm {
  readonly id: string;
  /** Another whenever it was saved. */
  readonly etag: string;
}

/** What all editors of one application share. */
export interface BuilderForm {
  readonly id: string;
  readonly errors: FieldErrors;
  /** Undefined as long as it was never saved. */
  readonly saved: SavedForm | undefined;
  /** What stands at a place now. */
  readonly read: (path: Path) => unknown;
  /** Puts a value in its place; undefined takes it away. */
  readonly change: (path: Path, value: unknown) => void;
  /** The editor of any value; editors of what has parts draw these with it. */
  readonly Value: ComponentType<EditorProps>;
}

/** What every editor is given. */
export interface EditorProps {
  readonly schema: JsonObject;
  readonly value: unknown;
  readonly path: Path;
  readonly form: BuilderForm;
  readonly isRequired: boolean;
  readonly label: string;
  readonly hint: string;
  /** What stands around it says the label already: it is there for those who listen. */
  readonly isLabelHidden?: boolean | undefined;
}

/** The id of the element in which a place is edited. */
export function elementId(form: BuilderForm, path: Path): string {
  return `${form.id}${formatPath(path)}`;
}

// Pattern bound: the path of a field in an error.
const lastKey = /(\.[^.[\]]*|\[[^[\]]*\])$/;

/** Unfolds what a field is folded in, and goes there; where the very field is not drawn, to what it is part of. */
export function goToField(formId: string, field: string): void {
  for (let current = field, before = ''; current !== before; [before, current] = [current, current.replace(lastKey, '')]) {
    const element = document.getElementById(`${formId}${current}`);
    if (element === null) continue;
    for (let details = element.closest('details'); details !== null; details = details.parentElement?.closest('details') ?? null)
      details.open = true;
    const target = element.matches('input, textarea, select, button')
      ? element
      : element.querySelector<HTMLElement>('input, textarea, select, button, summary');
    target?.focus();
    return;
  }
}
