import type { ComponentType } from 'react';
import type { JsonObject } from '#base/json/json.ts';
import { formatPath, type Path } from '#contract/configuration/issue.ts';
import type { FieldErrors } from './field-errors.ts';

/** A stored application. */
export interface SavedForm {
  readonly id: string;
  /** Changes with each save. */
  readonly etag: string;
}

/** State that all editors of one application share. */
export interface BuilderForm {
  readonly id: string;
  readonly errors: FieldErrors;
  /** Undefined until the application is saved. */
  readonly saved: SavedForm | undefined;
  /** Returns the current value at a path. */
  readonly getValue: (path: Path) => unknown;
  /** Sets the value at a path. Undefined removes it. */
  readonly change: (path: Path, value: unknown) => void;
  /** The generic editor, which editors of composite values use for their parts. */
  readonly Value: ComponentType<EditorProps>;
}

/** Properties of every editor. */
export interface EditorProps {
  readonly schema: JsonObject;
  readonly value: unknown;
  readonly path: Path;
  readonly form: BuilderForm;
  readonly isRequired: boolean;
  readonly label: string;
  readonly hint: string;
  /** Whether the surrounding element already shows the label. It then stays only for screen readers. */
  readonly isLabelHidden?: boolean | undefined;
}

/** Returns the ID of the element that edits a path. */
export function elementId(form: BuilderForm, path: Path): string {
  return `${form.id}${formatPath(path)}`;
}

// Pattern bound: the path of a field in an error.
const lastKey = /(\.[^.[\]]*|\[[^[\]]*\])$/;

/** Opens the sections around a field and focuses it. If the field is not rendered, focuses the closest rendered parent. */
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
