/** What is used of WebAssembly: the types of Node do not have it, and those of browsers are not for the service. */
declare namespace WebAssembly {
  class Memory {
    constructor(size: { readonly initial: number });
    readonly buffer: ArrayBuffer;
    /** In pages of 64 KiB. */
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
