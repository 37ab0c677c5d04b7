// Reads the venue time and the number of the ball off a playing <video>. The codes' places and meaning are documented in
// crates/stadium/src/blockcode.rs; this is the same reader for a page.

/**
 * The 32 bits of a block code in the picture; null when there is no readable one. Self-contained, so that it can be given to a
 * page as source.
 *
 * @param {HTMLVideoElement} video shows the ground
 * @param {HTMLCanvasElement} canvas scratch; keep one and pass it each time
 * @param {{left: number, top: number}} place its left edge in fortieths of the width, its top edge in forty-fifths of the height
 * @returns {number | null}
 */
export function readCode(video, canvas, place) {
  const COLUMNS = 20;
  const ROWS = 2;
  const CELL = 8; // canvas pixels per block: 320x180 is read without scaling
  const { videoWidth: width, videoHeight: height } = video;
  if (!width || !height) return null;

  canvas.width = COLUMNS * CELL;
  canvas.height = ROWS * CELL;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.drawImage(
    video,
    (width * place.left) / 40, (height * place.top) / 45, width / 2, (height * 4) / 45,
    0, 0, canvas.width, canvas.height,
  );
  const { data } = context.getImageData(0, 0, canvas.width, canvas.height);

  const bits = [];
  for (let row = 0; row < ROWS; row++) {
    for (let column = 0; column < COLUMNS; column++) {
      let sum = 0;
      for (let y = CELL / 4; y < (CELL * 3) / 4; y++) {
        for (let x = CELL / 4; x < (CELL * 3) / 4; x++) {
          const at = 4 * ((row * CELL + y) * canvas.width + column * CELL + x);
          sum += 0.2126 * data[at] + 0.7152 * data[at + 1] + 0.0722 * data[at + 2];
        }
      }
      bits.push(sum / (CELL / 2) ** 2 > 128 ? 1 : 0);
    }
  }

  const number = (from, to) => bits.slice(from, to).reduce((value, bit) => value * 2 + bit, 0);
  const low = number(0, 32);
  let crc = 0;
  for (const shift of [24, 16, 8, 0]) {
    crc ^= (low >>> shift) & 0xff;
    for (let n = 0; n < 8; n++) crc = crc & 0x80 ? ((crc << 1) ^ 0x07) & 0xff : crc << 1;
  }
  return (crc ^ 0x55) === number(32, 40) ? low : null;
}

/** Where the venue time stands, and where the number of the ball does. */
export const TIME = { left: 1, top: 39 };
export const BALLS = { left: 19, top: 2 };

/**
 * The instant with these 32 bits that is nearest to now: UTC in milliseconds. Self-contained, too.
 *
 * @param {number | null} low as read
 * @returns {{ok: boolean, ms: number}} `ok` is false when there was no readable code
 */
export function venueMs(low) {
  // A right code is from this match; noise that passes the CRC is nearly always weeks away.
  const FAR_MS = 24 * 3600 * 1000;
  const none = { ok: false, ms: NaN };
  if (low === null) return none;
  const now = Date.now();
  const ms = low + Math.round((now - low) / 2 ** 32) * 2 ** 32;
  return Math.abs(now - ms) < FAR_MS ? { ok: true, ms } : none;
}

/** An expression that gives a page `readVenueMs(video, canvas)` and `readBall(video, canvas)`. */
export const READERS = `(() => {
  ${readCode}
  ${venueMs}
  window.readVenueMs = (video, canvas) => venueMs(readCode(video, canvas, ${JSON.stringify(TIME)}));
  window.readBall = (video, canvas) => readCode(video, canvas, ${JSON.stringify(BALLS)});
})()`;
