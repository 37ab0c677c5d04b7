//! Contribution feeds with a clock of any kind: ffmpeg makes one, its timestamps are bent on the way to UDP.

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use timeline::anchor::PTS_MODULUS;
use tokio::io::AsyncReadExt;
use tokio::net::UdpSocket;
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;

/// Bytes of a transport packet.
const PACKET: usize = 188;
/// ffmpeg's first stream.
const VIDEO_PID: u16 = 0x100;
/// Packets of a datagram.
const TOGETHER: usize = 7;

/// What happens to a 33-bit timestamp: which is given, and when the feed began. PCRs are bent like the others,
/// with `None` for the frame's number.
pub type Bend = Box<dyn FnMut(u64, Option<u64>, Duration) -> u64 + Send>;

/// A feed that goes to a UDP port until this is dropped.
pub struct Feed {
    /// Where it arrives.
    pub url: String,
    damaged: Arc<AtomicBool>,
    task: JoinHandle<()>,
    _ffmpeg: Child,
}

impl Feed {
    /// 25 pictures and two sounds a second of real time, H.264 with a keyframe each second.
    pub fn start(port: u16, mut bend: Bend) -> Feed {
        let mut ffmpeg = Command::new("ffmpeg")
            .args(["-hide_banner", "-loglevel", "error", "-nostdin", "-re", "-f", "lavfi", "-i"])
            .args([
                "testsrc2=size=320x180:rate=25",
                "-re",
                "-f",
                "lavfi",
                "-i",
                "sine=frequency=440:sample_rate=48000",
            ])
            .args([
                "-c:v",
                "libx264",
                "-preset",
                "ultrafast",
                "-tune",
                "zerolatency",
                "-g",
                "25",
                "-b:v",
                "400k",
            ])
            .args(["-pix_fmt", "yuv420p", "-c:a", "aac", "-b:a", "64k", "-f", "mpegts", "-muxdelay", "0"])
            .args(["-pes_payload_size", "0", "-flush_packets", "1", "pipe:1"])
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut stream = ffmpeg.stdout.take().unwrap();
        let damaged = Arc::new(AtomicBool::new(false));
        let wiping = damaged.clone();
        let task = tokio::spawn(async move {
            let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
            let (mut pending, mut buffer) = (Vec::new(), vec![0; 64 << 10]);
            let (mut frames, began) = (0, Instant::now());
            while let Ok(read @ 1..) = stream.read(&mut buffer).await {
                pending.extend_from_slice(&buffer[..read]);
                let whole = pending.len() / PACKET * PACKET;
                for packet in pending[..whole].chunks_exact_mut(PACKET) {
                    packet_stamps(packet, &mut frames, &mut |stamp, frame| {
                        bend(stamp, frame, began.elapsed())
                    });
                    if wiping.load(Ordering::Relaxed) {
                        wipe_video(packet);
                    }
                }
                for datagram in pending[..whole].chunks(PACKET * TOGETHER) {
                    let _ = socket.send_to(datagram, ("127.0.0.1", port)).await;
                }
                pending.drain(..whole);
            }
        });
        Feed { url: format!("udp://127.0.0.1:{port}"), damaged, task, _ffmpeg: ffmpeg }
    }

    /// From here on the picture's bytes are lost (its timestamps are not), or no longer.
    pub fn damage(&self, damaged: bool) {
        self.damaged.store(damaged, Ordering::Relaxed);
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Overwrites what a packet of the picture carries, but for the PES header.
fn wipe_video(packet: &mut [u8]) {
    let pid = u16::from_be_bytes([packet[1] & 0x1f, packet[2]]);
    if pid != VIDEO_PID || packet[3] & 0x10 == 0 {
        return;
    }
    let mut at = 4 + if packet[3] & 0x20 != 0 { 1 + usize::from(packet[4]) } else { 0 };
    if packet[1] & 0x40 != 0 {
        at += 9 + usize::from(packet[at + 8]);
    }
    packet[at..].fill(0xff);
}

/// Shifts a timestamp, modulo its 33 bits.
pub fn shifted(stamp: u64, by: i64) -> u64 {
    (stamp as i64 + by).rem_euclid(PTS_MODULUS) as u64
}

/// Bends the PCR, PTS and DTS of a packet (ISO/IEC 13818-1, 2.4.3.5 and 2.4.3.7).
fn packet_stamps(packet: &mut [u8], frames: &mut u64, bend: &mut impl FnMut(u64, Option<u64>) -> u64) {
    assert_eq!(packet[0], 0x47, "a transport packet");
    let (starts, adaptation) = (packet[1] & 0x40 != 0, packet[3] & 0x20 != 0);
    let mut at = 4;
    if adaptation {
        let length = usize::from(packet[4]);
        if length >= 7 && packet[5] & 0x10 != 0 {
            let field = u64::from_be_bytes([0, 0, 0, packet[6], packet[7], packet[8], packet[9], packet[10]]);
            let pcr = bend(field >> 7, None);
            let field = (pcr << 7) | (field & 0x7f);
            packet[6..11].copy_from_slice(&field.to_be_bytes()[3..]);
        }
        at += 1 + length;
    }
    let Some(pes) =
        packet.get_mut(at..).filter(|pes| starts && pes.starts_with(&[0, 0, 1]) && pes.len() >= 19)
    else {
        return;
    };
    let video = pes[3] & 0xf0 == 0xe0;
    if video {
        *frames += 1;
    }
    let flags = pes[7] >> 6;
    if flags & 2 != 0 {
        stamp(&mut pes[9..14], video.then_some(*frames), bend);
    }
    if flags == 3 {
        stamp(&mut pes[14..19], video.then_some(*frames), bend);
    }
}

/// Bends one timestamp of a PES header: 3, 15 and 15 bits, with marker bits behind each.
fn stamp(field: &mut [u8], frame: Option<u64>, bend: &mut impl FnMut(u64, Option<u64>) -> u64) {
    let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(|n: usize| u64::from(field[n]));
    let old = (a >> 1 & 7) << 30 | b << 22 | (c >> 1) << 15 | d << 7 | e >> 1;
    let new = bend(old, frame);
    let bytes = [
        (field[0] & 0xf1) | ((new >> 30 & 7) << 1) as u8,
        (new >> 22) as u8,
        ((new >> 15 & 0x7f) << 1) as u8 | 1,
        (new >> 7) as u8,
        ((new & 0x7f) << 1) as u8 | 1,
    ];
    field.copy_from_slice(&bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_read_and_written() {
        let mut field = [0x31, 0x00, 0x01, 0x00, 0x01];
        stamp(&mut field, None, &mut |old, _| {
            assert_eq!(old, 0);
            (1 << 33) - 2
        });
        stamp(&mut field, None, &mut |old, _| {
            assert_eq!(old, (1 << 33) - 2);
            old
        });
        assert_eq!(field, [0x3f, 0xff, 0xff, 0xff, 0xfd]);
        assert_eq!(shifted(5, -10), (1 << 33) - 5);
    }
}
