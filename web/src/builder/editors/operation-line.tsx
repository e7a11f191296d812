import { isJsonObject, type JsonObject, toObject, toText } from '#base/json/json.ts';
import './editors.css';

/** Display data of a web API operation. */
interface Operation {
  /** Uppercase. '' if there is none. */
  readonly method: string;
  readonly address: string;
  readonly name: string;
  readonly description: string;
}

/** Returns the operation of a list item, or undefined if the item is not a web API operation. */
export function toOperation(value: unknown): Operation | undefined {
  if (!isJsonObject(value) || !isJsonObject(value.rest_api_method_info)) return undefined;
  const { method_type: method, method_url: address } = value.rest_api_method_info;
  const definition = isJsonObject(value.open_ai_tool) ? value.open_ai_tool.function : undefined;
  const { name, description }: JsonObject = toObject(definition);
  return { method: toText(method).toUpperCase(), address: toText(address), name: toText(name), description: toText(description) };
}

interface OperationLineProps {
  readonly operation: Operation;
  /** Used while the operation has no name. */
  readonly fallback: string;
}

/** Method, name, and description in one truncated line. */
export function OperationLine({ operation: { method, name, description }, fallback }: OperationLineProps) {
  return (
    <span className="operation-line">
      {method !== '' && <code className="operation-method">{method}</code>}
      <span className="builder-card-name">{name || fallback}</span>
      {description !== '' && <span className="operation-description soft small">{description}</span>}
    </span>
  );
}
