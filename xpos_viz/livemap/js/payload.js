/** What the host sends: plain objects, or the same packed into bytes. */

const BYTES = "$bytes";

/**
 * Read a payload, whether it is an object or packed bytes.
 * @param {object|Uint8Array|ArrayBuffer} payload
 * @returns {object} with Uint8Array where Python had bytes
 */
export function read(payload) {
  const packed = payload instanceof ArrayBuffer || ArrayBuffer.isView(payload);
  return packed ? unpacked(bytesOf(payload)) : payload;
}

/**
 * The numbers in an array of bytes.
 * @param {Uint8Array|ArrayBuffer|Float32Array} bytes little-endian float32
 * @returns {Float32Array}
 */
export function floats(bytes) {
  if (bytes instanceof Float32Array) return bytes;
  const { buffer, byteOffset, byteLength } = bytesOf(bytes);
  return new Float32Array(buffer.slice(byteOffset, byteOffset + byteLength));
}

function bytesOf(data) {
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}

function unpacked(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const arrays = bytes.subarray(4 + length);
  const head = new TextDecoder().decode(bytes.subarray(4, 4 + length));
  return JSON.parse(head, (_, value) => {
    const place = value?.[BYTES];
    return Array.isArray(place) ? arrays.subarray(place[0], place[0] + place[1]) : value;
  });
}
