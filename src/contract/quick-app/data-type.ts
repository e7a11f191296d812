import { Type } from 'typebox';

/** Data types of parameters, as JSON Schema names them. */
export const dataType = Type.Enum(['string', 'number', 'integer', 'boolean', 'object', 'array'], {
  description: 'Data type of the parameter.',
});
