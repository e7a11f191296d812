import { type ComponentType, useEffect, useRef } from 'react';
import type { JsonObject } from '#base/json/json.ts';
import { formatPath, type Path } from '#contract/configuration/issue.ts';

/** The stored application of a form. */
export interface StoredApplication {
  readonly id: string;
  /** Changes with each save. */
  readonly etag: string;
}

/** State that all editors of one application share. */
export interface BuilderForm {
  readonly id: string;
  readonly errors: FieldErrors;
  /** Undefined until the application is saved. */
  readonly stored: StoredApplication | undefined;
  /** Returns the current value at a path. */
  readonly getValue: (path: Path) => unknown;
  /** Sets the value at a path. Undefined removes it. */
  readonly change: (path: Path, value: unknown) => void;
  /** The generic editor, which editors of composite values use for their parts. */
  readonly Value: ComponentType<EditorProps>;
}

/** Props of every editor. */
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
export function toElementId(form: BuilderForm, path: Path): string {
  return `${form.id}${formatPath(path)}`;
}

// Pattern bound: runs in the user's own tab, on one field path of an error.
const lastKey = /(\.[^.[\]]*|\[[^[\]]*\])$/;

/** Opens the sections around a field and focuses it. If the field is not rendered, focuses the closest rendered parent. */
export function goToField(formId: string, field: string): void {
  for (let current = field, previous = ''; current !== previous; [previous, current] = [current, current.replace(lastKey, '')]) {
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

/** Focuses the first field with an error when new errors arrive. A correction, which only removes errors, keeps the focus. */
export function useErrorFocus(formId: string, errors: FieldErrors): void {
  const previous = useRef(errors);
  useEffect(() => {
    const isCorrection = errors.size < previous.current.size && [...errors.keys()].every((field) => previous.current.has(field));
    previous.current = errors;
    const [first] = errors.keys();
    if (first !== undefined && !isCorrection) goToField(formId, first);
  }, [formId, errors]);
}

/** Error messages by field path, in the notation of the service. */
export type FieldErrors = ReadonlyMap<string, string>;

const fieldPath = String.raw`[A-Za-z_$][\w$-]*(?:\.[A-Za-z_$][\w$-]*|\[\d+\]|\["(?:[^"\\]|\\.)*"\])*`;
/** Separates the errors of a message. Each error starts with the path of its field, and can contain semicolons. */
// Pattern bound: runs in the user's own tab, on one error message.
const separator = new RegExp(String.raw`; (?=(?:${fieldPath}) (?:must|is|cannot|names|has|needs|takes|was|may)\b)`);
// Pattern bound: runs in the user's own tab, on one error message.
const fieldError = new RegExp(`^(${fieldPath}) (.*)$`, 's');

/** Parses the message of a rejected request. `param` is the field of its first error. */
export function toFieldErrors(message: string, param: string | undefined): FieldErrors {
  const errors = new Map<string, string>();
  for (const part of message
    .replace(/\.$/, '')
    .replace(/; and \d+ more$/, '')
    .split(separator)) {
    const [, field, description] = fieldError.exec(part) ?? [];
    const isFirst = errors.size === 0;
    if (field !== undefined && description !== undefined && (!isFirst || field === param)) {
      if (!errors.has(field)) errors.set(field, `${description}.`);
    } else if (isFirst && param !== undefined) errors.set(param, message);
  }
  return errors;
}

/** Returns whether a path is `base` or leads to a part of it. */
export function isWithin(path: string, base: string): boolean {
  return path === base || path.startsWith(`${base}.`) || path.startsWith(`${base}[`);
}

/** Returns the errors outside `base`. Returns the same map if no error is within `base`. */
export function withoutFieldErrors(errors: FieldErrors, base: string): FieldErrors {
  const outside = new Map([...errors].filter(([path]) => !isWithin(path, base)));
  return outside.size === errors.size ? errors : outside;
}

/** Lists the errors at a path and below it. Each error below it starts with its relative path. */
export function listErrorsUnder(errors: FieldErrors, base: string): readonly string[] {
  return [...errors]
    .filter(([path]) => isWithin(path, base))
    .map(([path, description]) => (path === base ? description : `${path.slice(base.length).replace(/^\./, '')} ${description}`));
}
