import { type Static, Type } from 'typebox';
import { fieldBounds, strict, text } from '../configuration/fields.ts';
import { dataType, functionName, maxDescriptionChars } from './web-toolset.ts';

const Parameter = strict(
  {
    name: text('Name of the parameter.'),
    description: Type.String({ maxLength: maxDescriptionChars, description: 'What the parameter is, for the model.' }),
    parameter_type: dataType,
  },
  { description: 'A parameter of the tool; the model must give it.' },
);

/** A tool that the caller runs. */
export const ClientToolset = strict(
  {
    name: functionName(),
    description: Type.String({ maxLength: maxDescriptionChars, description: 'What the tool does, for the model.' }),
    parameters: Type.Array(Parameter, { maxItems: fieldBounds.maxItems, description: 'Parameters of the tool; may be empty.' }),
  },
  { description: 'A tool that the caller runs.' },
);
export type ClientTool = Static<typeof ClientToolset>;
