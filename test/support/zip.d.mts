export declare function zip(parts: Readonly<Record<string, string | Uint8Array>>): Buffer;
