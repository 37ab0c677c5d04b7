//! MaxMind's files, wholly in memory.

use std::net::IpAddr;
use std::path::PathBuf;

use maxminddb::{Reader, geoip2};

use super::Place;
use crate::Error;

/// Where the files are. Without one, what it tells is not known of anybody.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Files {
    /// MaxMind file that tells city, postcode and country of an address (GeoLite2-City, GeoIP2-City, or -Country).
    #[arg(long, value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cities: Option<PathBuf>,
    /// MaxMind file that tells the network (GeoLite2-ASN).
    #[arg(long, value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub networks: Option<PathBuf>,
    /// MaxMind file of VPNs and proxies (GeoIP2-Anonymous-IP): who comes by one is nowhere that counts.
    #[arg(long, value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anonymous: Option<PathBuf>,
    /// Country (ISO 3166-1) in which private addresses are taken to be, as behind one router.
    #[arg(long, value_name = "CODE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub home_country: Option<String>,
}

/// Says where addresses are.
#[derive(Default)]
pub struct Whereabouts {
    cities: Option<Reader<Vec<u8>>>,
    networks: Option<Reader<Vec<u8>>>,
    anonymous: Option<Reader<Vec<u8>>>,
    home: Option<[u8; 2]>,
}

impl Whereabouts {
    /// Reads the files.
    ///
    /// # Errors
    ///
    /// One cannot be read, or the country is none.
    pub fn open(files: &Files) -> Result<Whereabouts, Error> {
        let read = |file: &Option<PathBuf>| match file {
            None => Ok(None),
            Some(file) => Reader::open_readfile(file)
                .map(Some)
                .map_err(|error| Error::Places { file: file.clone(), why: error.to_string() }),
        };
        let home = match files.home_country.as_deref() {
            None => None,
            Some(code) if super::countries::is_country(code) => code.as_bytes().try_into().ok(),
            Some(code) => return Err(Error::Country(code.to_owned())),
        };
        Ok(Whereabouts {
            cities: read(&files.cities)?,
            networks: read(&files.networks)?,
            anonymous: read(&files.anonymous)?,
            home,
        })
    }

    /// Where an address is. What cannot be read of a file is not known.
    pub fn place(&self, address: IpAddr) -> Place {
        let address = address.to_canonical();
        let mut place = Place::default();
        if let Some(found) = look::<geoip2::City>(&self.cities, address) {
            place.country = found.country.iso_code.and_then(|code| code.as_bytes().try_into().ok());
            place.subdivision = found.subdivisions.first().and_then(|s| s.iso_code).map(str::to_owned);
            place.city = found.city.geoname_id;
            place.location = found.location.latitude.zip(found.location.longitude);
            place.postcode = found.postal.code.map(str::to_owned);
        }
        if place.country.is_none() && is_private(address) {
            place.country = self.home;
        }
        if let Some(found) = look::<geoip2::Asn>(&self.networks, address) {
            place.asn = found.autonomous_system_number;
        }
        if let Some(found) = look::<geoip2::AnonymousIp>(&self.anonymous, address) {
            place.anonymous = [
                found.is_anonymous,
                found.is_anonymous_vpn,
                found.is_hosting_provider,
                found.is_public_proxy,
                found.is_residential_proxy,
                found.is_tor_exit_node,
            ]
            .contains(&Some(true));
        }
        place
    }
}

fn look<'a, T: serde::Deserialize<'a>>(file: &'a Option<Reader<Vec<u8>>>, address: IpAddr) -> Option<T> {
    file.as_ref()?.lookup(address).ok()?.decode().ok()?
}

/// Loopback, link-local, RFC 1918 and RFC 4193.
fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.is_loopback() || v4.is_private() || v4.is_link_local(),
        IpAddr::V6(v6) => v6.is_loopback() || v6.is_unique_local() || v6.is_unicast_link_local(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// MaxMind's public test files, if this machine has them.
    fn files() -> Option<Files> {
        let folder =
            PathBuf::from(std::env::var("PAVILION_MAXMIND").unwrap_or("../../../shared/data/maxmind".into()));
        let folder = [folder, "../../../../shared/data/maxmind".into()].into_iter().find(|f| f.is_dir());
        let Some(folder) = folder else {
            eprintln!("SKIPPED: MaxMind's test files are not here; set PAVILION_MAXMIND to their folder");
            return None;
        };
        Some(Files {
            cities: Some(folder.join("GeoIP2-City-Test.mmdb")),
            networks: Some(folder.join("GeoLite2-ASN-Test.mmdb")),
            anonymous: Some(folder.join("GeoIP2-Anonymous-IP-Test.mmdb")),
            home_country: Some("IN".into()),
        })
    }

    #[test]
    fn addresses_are_where_the_files_say() {
        let Some(files) = files() else { return };
        let places = Whereabouts::open(&files).unwrap();
        let place = |address: &str| places.place(address.parse().unwrap());
        let boxford = place("2.125.160.216");
        assert_eq!((boxford.country(), boxford.subdivision.as_deref()), (Some("GB"), Some("ENG")));
        assert_eq!((boxford.city, boxford.postcode.as_deref()), (Some(2_655_045), Some("OX1")));
        assert!(boxford.location.is_some() && !boxford.anonymous);
        assert_eq!(place("::ffff:2.125.160.216"), boxford, "the same address in IPv6's clothes");
        assert_eq!(place("1.128.0.0").asn, Some(1_221));
        assert!(place("1.2.0.0").anonymous);
        assert_eq!(place("192.168.0.7").country(), Some("IN"), "behind our router");
        assert_eq!(place("203.0.113.9"), Place::default(), "nothing is known of it");
    }

    #[test]
    fn without_files_nothing_is_known_and_a_wrong_one_is_said() {
        assert_eq!(Whereabouts::default().place([2, 125, 160, 216].into()), Place::default());
        let files = Files { cities: Some("Cargo.toml".into()), ..Files::default() };
        let error = Whereabouts::open(&files).err().unwrap().to_string();
        assert!(error.contains("Cargo.toml"), "{error}");
        let files = Files { home_country: Some("UK".into()), ..Files::default() };
        assert!(Whereabouts::open(&files).err().unwrap().to_string().contains("'UK'"));
    }
}
