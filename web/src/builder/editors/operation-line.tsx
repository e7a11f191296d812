import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import './operation-line.css';

/** One operation of a web API, as people tell it from others. */
interface Operation {
  /** In capitals; '' where it is not said. */
  readonly method: string;
  readonly address: string;
  readonly name: string;
  readonly description: string;
}

/** Undefined for what is no operation of a web API. */
export function toOperation(value: unknown): Operation | undefined {
  if (!isJsonObject(value) || !isJsonObject(value.rest_api_method_info)) return undefined;
  const { method_type: method, method_url: address } = value.rest_api_method_info;
  const definition = isJsonObject(value.open_ai_tool) ? value.open_ai_tool.function : undefined;
  const { name, description }: JsonObject = isJsonObject(definition) ? definition : {};
  return { method: toText(method).toUpperCase(), address: toText(address), name: toText(name), description: toText(description) };
}

interface OperationLineProps {
  readonly operation: Operation;
  /** Stands for it where it has no name yet. */
  readonly fallback: string;
}

/** Method, name and what it does, in one line; what does not fit is read in the operation itself. */
export function OperationLine({ operation: { method, name, description }, fallback }: OperationLineProps) {
  return (
    <span className="operation-line">
      {method !== '' && <code className="operation-method">{method}</code>}
      <span className="builder-card-name">{name || fallback}</span>
      {description !== '' && <span className="operation-what soft small">{description}</span>}
    </span>
  );
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
