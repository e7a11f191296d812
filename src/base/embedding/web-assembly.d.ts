/** The part of WebAssembly that the service uses. The types of Node do not include it, and the types of browsers are not used in the service. */
declare namespace WebAssembly {
  class Memory {
    constructor(size: { readonly initial: number });
    readonly buffer: ArrayBuffer;
    /** Grows the memory by a number of 64 KiB pages. */
    grow(pages: number): number;
  }
  class Module {
    constructor(code: Uint8Array);
  }
  class Instance {
    constructor(module: Module, imports: object);
    readonly exports: object;
  }
}
