import { type Static, Type } from 'typebox';
import { fieldBounds, strict, text } from '../configuration/fields.ts';
import { dataType, functionName, maxDescriptionChars } from './web-toolset.ts';

const Parameter = strict(
  {
    name: text('Name of the parameter.'),
    description: Type.String({ maxLength: maxDescriptionChars, description: 'Description of the parameter for the model.' }),
    parameter_type: dataType,
  },
  { description: 'A parameter of the tool. The model must provide it.' },
);

/** A tool that the client runs. */
export const ClientToolset = strict(
  {
    name: functionName(),
    description: Type.String({ maxLength: maxDescriptionChars, description: 'Description of the tool for the model.' }),
    parameters: Type.Array(Parameter, { maxItems: fieldBounds.maxItems, description: 'Parameters of the tool. Can be empty.' }),
  },
  { description: 'A tool that the client runs.' },
);
export type ClientTool = Static<typeof ClientToolset>;
