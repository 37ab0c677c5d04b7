//! Where a viewer is. Decided here, from files in memory: rights and blackouts need no server that could be down.

mod address;
mod countries;
mod maxmind;

pub use address::{Client, Trusted};
pub use countries::country_name;
pub(crate) use countries::is_country;
pub use maxmind::{Files, Whereabouts};

/// What is known of where somebody is. Nothing, for a start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Place {
    /// ISO 3166-1 code in capitals.
    pub country: Option<[u8; 2]>,
    /// The second half of the ISO 3166-2 code.
    pub subdivision: Option<String>,
    /// Number at geonames.org.
    pub city: Option<u32>,
    /// Latitude and longitude in degrees, of the city rather than of the viewer.
    pub location: Option<(f64, f64)>,
    /// As the country writes it, or its first half.
    pub postcode: Option<String>,
    /// Number of the network.
    pub asn: Option<u32>,
    /// The address is one of those that hide where somebody is.
    pub anonymous: bool,
}

impl Place {
    /// The country as text.
    pub fn country(&self) -> Option<&str> {
        self.country.as_ref().and_then(|code| std::str::from_utf8(code).ok())
    }
}
