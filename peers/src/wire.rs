//! Sockets of clients that are many.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::time::Duration;

use mio::net::TcpStream;
use rustix::net::sockopt::{set_socket_linger, set_tcp_nodelay};
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, connect, socket_with};

/// Begins to connect from a loopback address of ours: one address alone has 28,000 ports.
pub(crate) fn open(from: Ipv4Addr, to: SocketAddr) -> io::Result<TcpStream> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)?;
    // Closed sockets leave nothing behind, so that the next run has all ports.
    set_socket_linger(&socket, Some(Duration::ZERO))?;
    set_tcp_nodelay(&socket, true)?;
    bind(&socket, &SocketAddr::V4(SocketAddrV4::new(from, 0)))?;
    match connect(&socket, &to) {
        Ok(()) | Err(rustix::io::Errno::INPROGRESS) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(TcpStream::from_std(std::net::TcpStream::from(socket)))
}
