//! By which address others on the network reach this machine.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};

/// Of documentation (RFC 5737): nobody has it, so that the route to it is the one to everywhere.
const SOMEWHERE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 9);

/// This machine's address on its way outwards; none if it has no such way. Nothing is sent.
pub fn outward() -> Option<IpAddr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    socket.connect(SOMEWHERE).ok()?;
    let ip = socket.local_addr().ok()?.ip();
    (!ip.is_loopback() && !ip.is_unspecified()).then_some(ip)
}
