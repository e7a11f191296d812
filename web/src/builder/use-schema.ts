import { useEffect, useState } from 'react';
import type { JsonObject } from '#base/json.ts';
import { usePage } from '../page/page.tsx';
import { type Fault, faultOf } from '../service/fault.ts';
import { readSchema } from './applications.ts';

/** The schema of quick apps as the service has it, once it is there. */
export function useSchema(): { readonly value: JsonObject | undefined; readonly fault: Fault | undefined } {
  const { service } = usePage();
  const [value, setValue] = useState<JsonObject>();
  const [fault, setFault] = useState<Fault>();
  useEffect(() => {
    readSchema(service).then(setValue, (thrown: unknown) => setFault(faultOf(thrown)));
  }, [service]);
  return { value, fault };
}
