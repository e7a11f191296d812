import { Type } from 'typebox';

/** Name of a tool for the model (spec 2.7). */
export function functionName() {
  return Type.Refine(
    Type.String({ title: 'Name', description: 'Name of the tool for the model.' }),
    (name) => /^[a-zA-Z0-9_-]{1,64}$/.test(name),
    () => 'must be 1 to 64 letters, digits, _ or -',
  );
}
