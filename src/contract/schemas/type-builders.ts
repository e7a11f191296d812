import { type TSchema, Type } from 'typebox';

/** Returns the schema of an object with any fields. */
export const anyObject = (description: string) => Type.Unsafe<{ [key: string]: unknown }>({ type: 'object', description });

/** Returns the schema of a value that can be null. */
export const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
