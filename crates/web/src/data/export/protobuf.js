// @ts-check
// Messages of protocol buffers.
// Source: Protocol Buffers documentation, "Encoding".

const encoder = new TextEncoder();

export class Message {
  constructor() {
    this.data = new Uint8Array(256);
    this.length = 0;
  }

  /** Encoded message. */
  get bytes() { return this.data.subarray(0, this.length); }

  clear() { this.length = 0; }

  /** @param {number} more */
  reserve(more) {
    if (this.length + more <= this.data.length) return;
    const data = new Uint8Array(Math.max(2 * this.data.length, this.length + more));
    data.set(this.bytes);
    this.data = data;
  }

  /** Variable-length number; negative ones have ten bytes, as 64-bit integers do.
   * @param {number} value a whole number below 2 to the 53rd */
  varint(value) {
    this.reserve(10);
    if (value < 0) {
      let rest = BigInt.asUintN(64, BigInt(value));
      for (; rest > 127n; rest >>= 7n) this.data[this.length++] = Number(rest & 127n) | 128;
      this.data[this.length++] = Number(rest);
      return;
    }
    for (; value > 127; value = Math.floor(value / 128)) this.data[this.length++] = value % 128 | 128;
    this.data[this.length++] = value;
  }

  /** Field with a number; 0 is the default and is omitted.
   * @param {number} field @param {number} value */
  number(field, value) {
    if (value === 0) return;
    this.varint(field * 8);
    this.varint(value);
  }

  /** Field with bytes.
   * @param {number} field @param {Uint8Array} bytes */
  chunk(field, bytes) {
    this.varint(field * 8 + 2);
    this.varint(bytes.length);
    this.reserve(bytes.length);
    this.data.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** @param {number} field @param {string} text */
  text(field, text) { this.chunk(field, encoder.encode(text)); }

  /** @param {number} field @param {Message} message */
  message(field, message) { this.chunk(field, message.bytes); }

  /** Field with several numbers; omitted if there are none.
   * @param {number} field @param {number[]} values */
  packed(field, values) {
    if (!values.length) return;
    const inner = new Message();
    for (const value of values) inner.varint(value);
    this.message(field, inner);
  }
}
