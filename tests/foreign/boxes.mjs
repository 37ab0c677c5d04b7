// Reads fragmented MP4 with mp4box and prints its track and samples as JSON: boxes.mjs FILE…
import { readFileSync } from 'node:fs';
import { createFile } from 'mp4box';

const seen = process.argv.slice(2).map((name) => {
  const bytes = readFileSync(name);
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  buffer.fileStart = 0;
  const file = createFile();
  const errors = [];
  let info;
  file.onReady = (i) => (info = i);
  file.onError = (module, message) => errors.push(`${module}: ${message}`);
  const samples = [];
  file.onSamples = (_id, _user, some) => samples.push(...some);
  file.onReady = (i) => {
    info = i;
    file.setExtractionOptions(i.tracks[0].id, null, { nbSamples: 1 });
    file.start();
  };
  file.appendBuffer(buffer, true);
  file.flush();
  const unknown = file.boxes.filter((b) => b.constructor?.name === 'UnknownBox').map((b) => b.type);
  const track = info.tracks[0];
  return {
    errors,
    unknown,
    fragmented: info.isFragmented,
    brands: info.brands,
    tracks: info.tracks.length,
    codec: track.codec,
    timescale: track.timescale,
    width: track.video?.width,
    height: track.video?.height,
    channels: track.audio?.channel_count,
    rate: track.audio?.sample_rate,
    samples: samples.map((s) => [s.dts, s.cts, s.duration, s.is_sync, s.size]),
  };
});
console.log(JSON.stringify(seen));
